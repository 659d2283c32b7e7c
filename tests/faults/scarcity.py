"""Memory or threads that give out at one moment after the other of many jobs: an exception, and then the same bits.

    python -m tests.faults.scarcity --most 100
    python -m tests.faults.scarcity --means limit --job newton

A job is done once undisturbed; then again and again, each time with less:

- ``request``: the first, second, third ... request for much memory is refused, and no other;
- ``end``: it is refused, and so are all that follow;
- ``limit``: the process may have a little more address space than it has (RLIMIT_AS), then more, until it is enough;
- ``thread``: no thread can be started from the first, second, third ... on.

A job may fail with a MemoryError (where threads are refused, with Python's RuntimeError), and leaves what was there
before as it was; or it finds another way, to the bits that it should give. ``scarce.c`` refuses; Linux, a C compiler.
"""

import argparse
import ctypes
import errno
import faulthandler
import functools
import gc
import os
import resource
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

import pegasos
from pegasos import PegasosError
from tests.faults.jobs import makers

MEANS = ("request", "end", "limit", "thread")
_MUCH = 2048  # bytes from which a request counts: smaller ones are those of Python itself
_LONGEST = 120.0  # seconds until a job counts as one that hangs
_NEVER = 2**62
_package = str(Path(pegasos.__file__).parent)
# Others end the process where one request is refused: numpy, for buffers in which it converts numbers; OpenBLAS, for
# its own; the loader, for those of a thread. Limits, as a system has them, hit larger requests first.
_ENDED_BY_OTHERS = ("all at once", "source", "predict probabilities", "predict by kernel", "read csv")


@functools.cache
def scarce():
    """What was preloaded."""
    library = ctypes.CDLL(None)
    library.scarce_memory.argtypes = [ctypes.c_size_t, ctypes.c_long, ctypes.c_long]
    library.scarce_threads.argtypes = [ctypes.c_long, ctypes.c_long]
    library.scarce_requests.restype = library.scarce_thread_requests.restype = ctypes.c_long
    return library


class Without:
    """A block of code for which there is not enough; ``was_refused`` says whether it noticed."""

    def __init__(self, means, number):
        self.means, self.number = means, number

    def __enter__(self):
        if self.means == "limit":
            scarce().malloc_trim(0)  # what was given back is not there to be used again
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + int(2**15 * 1.3**self.number), resource.RLIM_INFINITY))
        elif self.means == "thread":
            scarce().scarce_threads(self.number, _NEVER)
        else:
            scarce().scarce_memory(_MUCH, self.number, self.number if self.means == "request" else _NEVER)
        return self

    def __exit__(self, *_):
        requests = scarce().scarce_thread_requests() if self.means == "thread" else scarce().scarce_requests()
        self.was_refused = self.means == "limit" or requests >= self.number
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        scarce().scarce_threads(0, 0)
        scarce().scarce_memory(_NEVER, 0, 0)


def place_of(error):
    """Where in the package it was, or where below it there was too little."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(_package)]
    last = (own or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno}"


def causes_of(error):
    """What led to it, the last first."""
    while error is not None:
        yield error
        error = error.__cause__


def attempt(job, means, number):
    """What became of the job: the place where it failed, "" where it did not; and whether it was refused anything."""
    state = job.begin()
    gc.collect()
    faulthandler.dump_traceback_later(_LONGEST, exit=True)
    without = Without(means, number)
    try:
        with without:
            result = job.work(state)
        place = ""
    except MemoryError as error:
        place = place_of(error)
    except OSError as error:  # a file that could not be mapped
        if error.errno != errno.ENOMEM:
            raise
        place = "the system, " + place_of(error)
    except PegasosError as error:  # of a file: its sentence says what was missing
        is_told = means in ("thread", "limit") and "thread" in str(error)
        if not is_told and not any(isinstance(c, MemoryError | OSError | SystemError) for c in causes_of(error)):
            raise
        place = "a sentence, " + place_of(error)
    except RuntimeError as error:
        if means not in ("thread", "limit") or "can't start new thread" not in str(error):
            raise
        place = "no thread, " + place_of(error)
    except SystemError as error:  # numpy and Python's parser may forget to say what is missing
        if "without exception set" not in str(error) or "_core." in traceback.extract_tb(error.__traceback__)[-1].line:
            raise
        place = "no reason, " + place_of(error)
    faulthandler.cancel_dump_traceback_later()
    if place:
        job.check_unharmed(state)
    else:
        assert job.digest(state, result) == job.expected, f"other bits, {means} {number}"
    return place, without.was_refused


def campaign(job, means, most):
    """The job with ever more of what it needs, until it has enough: how often it failed where, "" for not at all."""
    places, n_enough = Counter(), 0
    for number in range(1, most + 1):
        try:
            place, was_refused = attempt(job, means, number)
        except BaseException:
            print(f"{job.name}: {means} {number}", flush=True)
            raise
        if was_refused:
            places[place] += 1
        n_enough = 0 if place or (was_refused and means != "limit") else n_enough + 1
        if n_enough == 3:  # the requests of a job are not the same each time
            break
    state = job.begin()
    assert job.digest(state, job.work(state)) == job.expected, f"other bits after {means}"
    return places


def main():
    """Print a line for each job and means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", action="append", help="only this one; may be given again")
    parser.add_argument("--means", action="append", choices=MEANS, help="only by this; may be given again")
    parser.add_argument("--verbose", action="store_true", help="say where they failed")
    parser.add_argument("--most", type=int, default=100, help="attempts at each job by each means")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if not hasattr(ctypes.CDLL(None), "scarce_memory"):
        return preloaded(sys.argv[1:]).returncode
    n_failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in makers(Path(folder)).items():
            if asked.job and name not in asked.job:
                continue
            some = MEANS if name not in _ENDED_BY_OTHERS else ("limit", "thread")
            for means in (means for means in asked.means or MEANS if means in some):
                places = campaign(job_for(make, means), means, asked.most)
                failed = {place: n for place, n in places.items() if place}
                n_failed += sum(failed.values())
                print(f"{name:24}{means:10}{sum(failed.values()):4} failed at {len(failed):3} places,", end=" ")
                print(f"{places['']:4} found another way", flush=True)
                if asked.verbose:
                    print("".join(f"{n:8} {place}\n" for place, n in failed.items()), end="", flush=True)
    print(f"{n_failed} failures, each with an exception; the right bits afterwards")
    return 0


def job_for(make, means):
    """In three threads; but if a thread of Python has no memory to start, its parent waits for it forever.

    That is issue 140746 of CPython. Under a limit, jobs that start threads of Python are done in one.
    """
    job = make(3)
    return make(1) if means == "limit" and job.starts_threads_of_python else job


def preloaded(arguments, **options):
    """This module in a process of its own, in which memory and threads can be refused."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "scarce.so"
        source = Path(__file__).with_name("scarce.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl", "-pthread"], check=True)
        # What is given back goes back to the system at once, so that the next limit is one again.
        malloc = {"MALLOC_MMAP_THRESHOLD_": "32768", "MALLOC_TRIM_THRESHOLD_": "32768", "MALLOC_ARENA_MAX": "1"}
        # One thread of BLAS: with several, OpenBLAS ends the process where its own memory is refused.
        environment = {**os.environ, **malloc, "OPENBLAS_NUM_THREADS": "1", "LD_PRELOAD": str(library)}
        command = [sys.executable, "-m", "tests.faults.scarcity", *arguments]
        return subprocess.run(command, cwd=Path(__file__).parents[2], env=environment, check=False, **options)


if __name__ == "__main__":
    sys.exit(main())
