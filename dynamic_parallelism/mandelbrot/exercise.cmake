# The options with which exercise.toml has the images measured: all GPUs and CPUs have the same ones.
add_test(NAME "mandelbrot images"
    COMMAND ${LAB_PYTHON} ${folder}/tests/same_images.py $<TARGET_FILE:mandelbrot> image map
        -- --width=768 --height=512 --dwell=255 --tile=64 --least=8 --reps=1)
lab_describe_case("mandelbrot images" mandelbrot results)
