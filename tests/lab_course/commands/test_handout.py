"""./lab handout: what it writes, what it refuses, and that nothing of a solution is in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import handout_sample as sample
import pytest
from lab_cli import catalogue, main, toml_file
from lab_course.grading.kernel_source import KernelSource
from lab_course.handouts import choice, files, leaks, workspace

GIT = ["git", "-c", "user.name=T", "-c", "user.email=t@localhost"]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "checkout"
    sample.write(root)
    for module in (catalogue, choice, files, workspace):
        monkeypatch.setattr(module, "ROOT", root)
    return root


def handed_out(folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    names = {path: path.relative_to(folder).as_posix() for path in paths}
    return {name: path.read_text() for path, name in names.items() if not name.startswith(".git/")}


def make(folder: Path, *words: str) -> dict[str, str]:
    assert main.main(["handout", "loadFirst", "-o", str(folder), *words]) == 0
    return handed_out(folder)


def git(folder: Path, *words: str) -> str:
    command = [*GIT, *words]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


# ---- what is in it


def test_the_files(checkout: Path, tmp_path: Path, capfd) -> None:
    texts = make(tmp_path / "out")
    assert capfd.readouterr().err.splitlines() == [
        "sums: students write wide; not there: clever",
        "left out: fast",
        f"written: {tmp_path / 'out'}",
    ]
    gone = {
        "tests/own_test.py",
        ".ci/run",
        ".github/workflows/ci.yml",
        "TEACHING.md",
        "ch01/pieces.cuh",
        "ch01/tests/pieces_test.cpp",
        "ch01/sums/tests/assignments.toml",
        "ch01/sums/tests/printed.txt",
    }
    gone |= {name for name in sample.FILES if "fast" in name}
    assert {*texts} == {*sample.FILES, "handout.toml"} - gone
    assert texts["ch01/sums/sums.cu"] == sample.HANDED_OUT
    assert texts["ch01/other/other.cu"] == sample.FILES["ch01/other/other.cu"]
    assert os.access(tmp_path / "out" / "lab", os.X_OK)
    assert not os.access(tmp_path / "out" / "ch01" / "sums" / "sums.cu", os.X_OK)
    everything = "".join(texts.values())
    assert "secret" not in everything.lower() and "fast/README.md" not in everything


def test_its_facts(checkout: Path, tmp_path: Path) -> None:
    make(tmp_path / "out")
    before = toml_file.load(checkout / "ch01" / "sums" / "exercise.toml")
    after = toml_file.load(tmp_path / "out" / "ch01" / "sums" / "exercise.toml")
    for key in ("order", "idea", "bench"):
        assert after[key] == before[key]
    assert after["tests"] == sample.TESTS
    assert after["work"] == {"bytes": {"plain": "4 * size"}, "baselines": ["plain"]}
    assert after["figures"]["ladder"] == {**before["figures"]["ladder"], "also": []}
    secret = ("hides", "leaves_out", "comment", "listed")
    kept = {key: value for key, value in before["assignment"][0].items() if key not in secret}
    assert after["assignment"] == [kept]
    assert {*after} == {"order", "idea", "tests", "bench", "work", "figures", "assignment"}
    mark = toml_file.load(tmp_path / "out" / "handout.toml")
    assert mark == {"version": 1, "assignments": ["loadFirst"]}


def test_its_pages(checkout: Path, tmp_path: Path) -> None:
    texts = make(tmp_path / "out")
    page = texts["ch01/sums/README.md"]
    assert "> **You write `wide`**: Load first. `./lab grade loadFirst` says" in page
    assert "kernels that are not in this hand-out" in page and "`clever`" in page
    assert "fast goes on; [other](../other/README.md) does not." in page and "![" not in page
    assert "Because of this." in page and "think" in page
    assert "The answer itself" not in page and "kParts" not in page
    assert page.count("it gives an assignment away") == 2
    assert "`loadFirst` ([sums](ch01/sums/README.md)): Load first." in texts["README.md"]


def test_answers_that_an_assignment_names(checkout: Path, tmp_path: Path) -> None:
    facts = sample.FACTS.replace("stars = 1", "stars = 1\nanswers = [1]")
    (checkout / "ch01" / "sums" / "exercise.toml").write_text(facts)
    texts = make(tmp_path / "out")
    assert "Because of this." not in texts["ch01/sums/README.md"]
    assert "Answer 1" in texts["ch01/sums/README.md"]
    assert "answers" not in texts["ch01/sums/exercise.toml"]


def test_no_answers(checkout: Path, tmp_path: Path) -> None:
    page = make(tmp_path / "out", "--no-answers")["ch01/sums/README.md"]
    assert "Because of this." not in page and "Answer 1" not in page
    assert "think" in page
    assert page.endswith("## Answers\n\nThey are not in this hand-out.\n")


def test_a_function_that_returns_something(checkout: Path, tmp_path: Path) -> None:
    facts = sample.FACTS.replace('kernels = ["wide"]', 'kernels = ["wide", "help"]')
    (checkout / "ch01" / "sums" / "exercise.toml").write_text(
        facts.replace('["clever"]', '["last"]', 1)
    )
    text = make(tmp_path / "out")["ch01/sums/sums.cu"]
    body = KernelSource(text, "sums.cu").body("help")
    assert body.splitlines()[-2:] == ["    (void)x;", "    return {};"]
    assert text.count("// Several elements.") == 1


def test_a_helper_that_the_solution_needs_stays(checkout: Path, tmp_path: Path) -> None:
    """Although of the kernels that stay none calls it."""
    source = checkout / "ch01" / "sums" / "sums.cu"
    source.write_text(sample.SOURCE.replace("= sum + n", "= sum + help(n)"))
    text = make(tmp_path / "out")["ch01/sums/sums.cu"]
    assert "__device__ int help(int x) {" in text and "kSecret = " in text


BODIES = """\
__global__ void above(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i > 2 * n) return;
    out[i] = 0;
}
__global__ void written(int* out, int n) {
    const int i = blockIdx.x*blockDim.x + threadIdx.x;
    int values[4] = {n, n + 1, n + 2};
    for (int k = 0; k < n && k < 4; ++k) {
        out[i * n + k] =
            values[k];  // why
    }
    if (i + 3 < n * n) out[i] = f(n);
    out[i] = n;
}
__global__ void below(int* out, int n) {
    if (i < n && i > 3 * n) out[i]=f(n);
}
"""


def test_what_is_telling() -> None:
    (solution,) = leaks.solutions(KernelSource(BODIES, "a.cu"), "sums", ["written"], [])
    assert solution.telling == [
        "intvalues[4]={n,n+1,n+2}",
        "out[i*n+k]=values[k]",
        "if(i+3<n*n)out[i]=f(n)",
    ]
    one = "x; // out[ i*n + k ]\n//   = values[k];"
    for page, found in (("ch01/sums/README.md", True), ("ch01/other/README.md", False)):
        several = leaks.Solution("written", "sums", [*solution.telling, "more"], "")
        leak = leaks.in_file(several, leaks.Text(one), Path(page), (), one)
        assert bool(leak) == found
    assert solution.found(leaks.Text(one), alone=False)  # one of three


def test_what_many_exercises_have_tells_nothing() -> None:
    known = leaks.Text("out[i * n + k] = values[k];")
    for many, telling in ((leaks.MANY - 1, True), (leaks.MANY, False)):
        others = [known] * many
        (solution,) = leaks.solutions(KernelSource(BODIES, "a.cu"), "sums", ["written"], [], others)
        assert ("out[i*n+k]=values[k]" in solution.telling) == telling


def test_a_recording_lacks_the_launches_of_rows_that_are_gone(checkout: Path, tmp_path) -> None:
    recorded = make(tmp_path / "out")["ch01/sums/results/h200/counts.debug.csv"]
    assert re.findall(r"^\"(\d+)\"", recorded, re.MULTILINE) == ["0", "1", "6", "7"]
    assert recorded.startswith('==PROF==\n"ID","Kernel Name","x"\n"","","unit"\n"0"')


def test_it_is_a_repository_with_one_commit(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "init", "-q")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "The secret: sum += in[first + k * blockDim.x]")
    (checkout / "untracked.cu").write_text("// mine\n")
    (checkout / "ch01" / "other" / "README.md").write_text("# other, changed\n")
    (checkout / "README.md").unlink()
    texts = make(tmp_path / "out")
    assert "untracked.cu" not in texts and "README.md" not in texts
    assert texts["ch01/other/README.md"] == "# other, changed\n"
    out = tmp_path / "out"
    assert git(out, "status", "--porcelain") == ""
    assert git(out, "rev-list", "--all", "--count") == "1\n"
    assert git(out, "tag") == "handout\n"
    assert git(out, "diff", "handout") == ""
    assert "blockDim.x];" not in git(out, "log", "-p", "--all")


def test_what_git_does_not_know_is_refused(checkout: Path, tmp_path: Path, capfd) -> None:
    git(checkout, "init", "-q")
    git(checkout, "add", "ch01/sums/sums.cu")
    assert main.main(["handout", "loadFirst", "-o", str(tmp_path / "out")]) == 1
    err = capfd.readouterr().err
    assert "ch01/sums/exercise.toml does not belong to the checkout: git add it first" in err
    assert_nothing(tmp_path)


def test_without_git(checkout: Path, tmp_path: Path, monkeypatch, capfd) -> None:
    for name in ("out/cpu/x.o", "build/y", ".venv/z", "ch01/__pycache__/a.pyc"):
        (checkout / name).parent.mkdir(parents=True)
        (checkout / name).touch()
    with_git = make(tmp_path / "one")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert make(tmp_path / "two") == with_git
    assert "note: no git is there" in capfd.readouterr().err
    assert not (tmp_path / "two" / ".git").exists()


def test_nobodys_settings_of_git_count(checkout: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / ".gitconfig").write_text(
        "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /no/such\n[user]\n\tname = Me\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Me")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    make(tmp_path / "out")
    monkeypatch.delenv("GIT_DIR")
    about = git(tmp_path / "out", "log", "--format=%an %cn %ae")
    assert about == "CUDA lab CUDA lab handout@localhost\n"


def test_the_checkouts_own_repository_says_what_is_in_it(
    checkout: Path, tmp_path: Path, monkeypatch
) -> None:
    git(checkout, "init", "-q")
    git(checkout, "add", "-A")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert "ch01/sums/sums.cu" in make(tmp_path / "out")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o755), (0o077, 0o700)])
def test_who_may_read_it_the_umask_says(checkout, tmp_path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        make(tmp_path / "out")
    finally:
        os.umask(before)
    for name in ("", "ch01", "lab"):
        assert (tmp_path / "out" / name).stat().st_mode & 0o777 == mode
    assert (tmp_path / "out" / "ch01" / "sums" / "sums.cu").stat().st_mode & 0o777 == mode & 0o666


def test_a_link_to_a_folder_will_do(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(name)
        assert make(tmp_path / "link") == handed_out(tmp_path / name)


# ---- what is refused


def assert_nothing(folder: Path) -> None:
    """But for the checkout."""
    assert {path.name for path in folder.iterdir()} <= {"checkout", "out", "link"}
    assert not (folder / "out").exists() or not any((folder / "out").iterdir())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("loadfirst", "no assignment is named loadfirst; did you mean loadFirst?"),
        ("zzz", "no assignment is named zzz; there are beClever, loadFirst"),
        ("beClever loadFirst", "loadFirst hides clever, which is written in beClever"),
        ("loadFirst beClever", "loadFirst hides clever, which is written in beClever"),
    ],
)
def test_assignments_that_cannot_be_had(checkout, tmp_path, capfd, names: str, message) -> None:
    assert main.main(["handout", *names.split(), "-o", str(tmp_path / "out")]) == 2
    assert message in capfd.readouterr().err
    assert_nothing(tmp_path)


SUMS, FACTS = "ch01/sums/sums.cu", "ch01/sums/exercise.toml"
LOOP = "for (unsigned k = 0; k < kParts; ++k)"
STATEMENT = "sum += in[first + k * blockDim.x];"
PART = "a part of the solution, wide of sums"
ROW = '    ladder.rung("last", grid'


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (FACTS, 'hides = ["clever"]', 'hides = ["no"]', f"{SUMS}: no is not there"),
        (FACTS, 'hides = ["clever"]', 'hides = ["help"]', "clever, which stays, uses it"),
        (
            FACTS,
            'leaves_out = ["fast"]',
            'leaves_out = ["sums"]',
            "loadFirst leaves sums out, of which",
        ),
        (
            FACTS,
            'leaves_out = ["fast"]',
            "leaves_out = []",
            f'ch01/pieces.cuh:1: {PART}: leaves_out = ["fast"]',
        ),
        # In the row of a kernel that stays, a variable that comes from one that is hidden.
        (
            SUMS,
            ROW,
            f"    const int x = sizeOf(clever);\n{ROW[:-4]}x",
            "clever cannot be hidden: x",
        ),
        # What is left of a solution: in a kernel below, in what is no function, in another exercise, and on
        # a page, not in an answer.
        (
            SUMS,
            "    out[threadIdx.x] = 0;\n",
            f"    {LOOP} // again\n  sum+=in[first + k*blockDim.x];\n",
            f'{SUMS}:44: {PART}: last, which stays, has it: hides = ["last"]',
        ),
        (SUMS, "// Slow.", f"// {LOOP} {STATEMENT}", f"{SUMS}:20: {PART}: it has to go from there"),
        (
            "ch01/other/other.cu",
            "int main",
            f"// {LOOP}\n//     {STATEMENT}\nint main",
            f'ch01/other/other.cu:1: {PART}: leaves_out = ["other"]',
        ),
        (
            "ch01/sums/README.md",
            "About sums.",
            f"```\n{LOOP} {STATEMENT}\n```",
            f"ch01/sums/README.md:4: {PART}: it has to go from there",
        ),
    ],
)
def test_what_cannot_be_handed_out(
    checkout, tmp_path, capfd, file: str, old: str, new: str, message: str
) -> None:
    """A mistake in what an assignment says of its files, or in these."""
    path = checkout / file
    path.write_text(path.read_text().replace(old, new))
    assert main.main(["handout", "loadFirst", "-o", str(tmp_path / "out")]) in (1, 2)
    err = capfd.readouterr().err
    assert message in err
    assert err.startswith("lab: the hand-out would give solutions away") == (PART in message)
    assert_nothing(tmp_path)


def test_a_kernel_that_two_assignments_write(checkout, tmp_path, capfd) -> None:
    text = sample.FACTS.replace('kernels = ["clever"]', 'kernels = ["wide"]')
    (checkout / FACTS).write_text(text.replace('hides = ["clever"]', ""))
    assert main.main(["handout", "loadFirst", "beClever", "-o", str(tmp_path / "out")]) in (1, 2)
    assert "wide is written in both" in capfd.readouterr().err
    assert_nothing(tmp_path)


def test_folders_that_will_not_do(checkout: Path, tmp_path: Path, monkeypatch, capfd) -> None:
    (tmp_path / "link").symlink_to(checkout)
    for folder, message in {
        checkout: "it is inside the checkout",
        checkout / "new": "it is inside the checkout",
        tmp_path / "link" / "new": "it is inside the checkout",
        tmp_path / "link": "it is inside the checkout",
        checkout / "lab" / "x": "it is inside the checkout",
        tmp_path: "the folder is not empty",
        tmp_path / "no" / "such": "there is no folder",
        Path("/dev/null"): "it is there, and is no folder",
    }.items():
        assert main.main(["handout", "loadFirst", "-o", str(folder)]) == 2
        assert message in capfd.readouterr().err
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert main.main(["handout", "loadFirst", "-o", "."]) == 2
    assert "-o .: you are in it" in capfd.readouterr().err
    (checkout / "handout.toml").touch()
    assert main.main(["handout", "loadFirst", "-o", str(tmp_path / "out")]) == 2
    assert "this is a hand-out" in capfd.readouterr().err
    assert_nothing(tmp_path)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_in_the_middle_leaves_nothing(
    checkout, tmp_path, monkeypatch, error: BaseException
) -> None:
    def fail(*_: object) -> bool:
        raise error

    monkeypatch.setattr(workspace, "_commit", fail)
    assert main.main(["handout", "loadFirst", "-o", str(tmp_path / "out")]) != 0
    assert_nothing(tmp_path)


def test_a_folder_that_cannot_be_replaced_is_named(checkout, tmp_path, monkeypatch, capfd) -> None:
    def fail(*_: object) -> None:
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(os, "rename", fail)
    (tmp_path / "out").mkdir()
    assert main.main(["handout", "loadFirst", "-o", str(tmp_path / "out")]) == 1
    assert f"-o {tmp_path / 'out'}: cannot be made: Device or" in capfd.readouterr().err
    assert_nothing(tmp_path)
