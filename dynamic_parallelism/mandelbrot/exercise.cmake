# The options with which exercise.toml has the images measured: all GPUs and CPUs have the same ones.
lab_add_case(${name} images full ${folder}/tests/same_images.py $<TARGET_FILE:${shipped}> image map
    -- --width=768 --height=512 --dwell=255 --tile=64 --least=8 --reps=1)
