# The options with which exercise.toml has the images measured: all GPUs and CPUs have the same ones.
lab_add_case(images full ${folder}/tests/same_images.py $<TARGET_FILE:mandelbrot> image map
    -- --width=768 --height=512 --dwell=255 --tile=64 --least=8 --reps=1)
