"""A person at a terminal: runs a command on a terminal of its own and does one step after the other.

Reads {"argv", "env", "cols", "rows", "steps"} as JSON from standard input. A step is {"see": REGEX}, {"type": TEXT},
{"resize": [COLS, ROWS]}, {"signal": NUMBER} or {"end": true}. Prints {"output", "exit_code", "signal", "restored"} as
JSON; `restored` tells whether the terminal's settings were the same afterwards, and `seen` what each step waited for.
"""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

TIMEOUT_SECONDS = 60


def main():
    given = json.load(sys.stdin)
    master, slave = pty.openpty()
    resize(master, given.get("cols", 80), given.get("rows", 24))
    before = termios.tcgetattr(slave)
    child = subprocess.Popen(
        given["argv"],
        env=given["env"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    screen = Screen(master)
    seen = []
    try:
        for step in given["steps"]:
            if "see" in step:
                seen.append(screen.wait_for(step["see"]))
            if "type" in step:
                os.write(master, step["type"].encode())
            if "resize" in step:
                resize(master, *step["resize"])
            if "signal" in step:
                child.send_signal(step["signal"])
        screen.drain(child)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    # `termios.tcgetattr` answers lists, which compare by value.
    restored = termios.tcgetattr(slave) == before
    code = child.returncode
    print(
        json.dumps(
            {
                "output": screen.text,
                "seen": seen,
                "exit_code": code if code >= 0 else None,
                "signal": -code if code < 0 else None,
                "restored": restored,
            }
        )
    )


def resize(master, cols, rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


class Screen:
    def __init__(self, master):
        self.master = master
        self.text = ""
        self.looked_at = 0

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        self.text += os.read(self.master, 65536).decode("utf-8", "replace")
        return True

    def wait_for(self, pattern):
        """In what appeared after the match before."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            found = re.compile(pattern, re.S).search(self.text, self.looked_at)
            if found:
                self.looked_at = found.end()
                return found.group(0)
            if time.monotonic() > deadline:
                raise SystemExit("never saw %s in %r" % (pattern, self.text[-2000:]))
            self.read(0.2)

    def drain(self, child):
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while child.poll() is None:
            if time.monotonic() > deadline:
                raise SystemExit("the command did not end; it showed %r" % self.text[-2000:])
            self.read(0.2)
        while self.read(0.1):
            pass


main()
