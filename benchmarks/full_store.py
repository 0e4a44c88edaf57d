"""What 10,000 pending flows and 100 apps change: a second state folder, filled, and the same figures from both in turn."""

import glob
import json
import os
import shutil
import statistics
import subprocess
import time

from measure import (ECHO, FLOORS, FOREIGN, KNOWN, LINKD, PROGRAMS, ROUNDS, SESSION, TOKEN, bus, floor, linkctl, median,
                     process_of, pss, row, say, sign_in, split, stop_linkd)

FLOWS, APPS = 10_000, 100


def folders(name):
    """State and configuration of a daemon: the session's own, or those of a copy."""
    if name == "small":
        return os.environ["XDG_STATE_HOME"] + "/linkd", os.environ["XDG_CONFIG_HOME"] + "/linkd"
    return f"{SESSION}/{name}-state", f"{SESSION}/{name}-config"


def use(name):
    """The next daemon that the bus starts has these folders."""
    state, config = folders(name)
    stop_linkd()
    bus("UpdateActivationEnvironment", f"dict:string:string:LINKD_STATE_DIR,{state},LINKD_CONFIG_DIR,{config}")


def fill():
    """Copies the session's folders, and puts the apps and flows into the copy."""
    state, config = folders("full")
    for source, copy in zip(folders("small"), (state, config)):
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("lock"))
    with open(glob.glob(config + "/apps.d/demo.json")[0]) as file:
        text = file.read()
    apps = [f"full{number:03}" for number in range(APPS)]
    for number, name in enumerate(apps):
        app = json.loads(text.replace("demo-linkd", "demo-" + name).replace("AIzaEXAMPLEKEY0000", f"AIzaEXAMPLEKEYF{number:03}"))
        app.pop("emulator", None)
        app["id"] = name
        app["schemes"] = ["com.example." + name]
        with open(f"{config}/apps.d/{name}.json", "w") as file:
            json.dump(app, file)
        os.chmod(f"{config}/apps.d/{name}.json", 0o600)
    subprocess.run([os.path.join(PROGRAMS, "store-filler"), state, str(FLOWS), *apps], check=True)


def figures():
    """Milliseconds of each operation with the folders in use, and the daemon's memory when it has gone idle."""
    linkctl("token", "--app", "demo", check=True)
    commands = [[os.path.join(FLOORS, "oneshot")], [os.path.join(PROGRAMS, "linkctl"), "open", "--no-wait", KNOWN]]
    opened = split(floor("runner", ROUNDS // 2, *commands[0], ":", *commands[1]))
    out = {"open": statistics.median(opened[1]) / 1e3, "floor": statistics.median(opened[0]) / 1e3}
    out["CanHandle"] = median(floor("rtt", 10 * ROUNDS, *LINKD, "CanHandle", "s=" + FOREIGN, "o")[:-1])
    out["GetIdToken"] = median(floor("rtt", 10 * ROUNDS, *TOKEN, "o")[:-1])
    time.sleep(5)  # Two seconds after the last call it gives pages back.
    out["PSS"] = pss(process_of("org.linkd.Auth1"))
    calls = [*ECHO, "Echo", "s=hi", ":", *LINKD, "CanHandle", "s=" + FOREIGN, "o"]
    out["activation"] = statistics.median(split(floor("activate", max(5, ROUNDS // 5), *calls))[1]) / 1e3
    return out


def full_store():
    say(f"the same with {FLOWS:,} pending flows and {APPS} apps")
    sign_in()
    linkctl("open", "--no-wait", KNOWN)
    stop_linkd()
    fill()
    samples = {"small": [], "full": []}
    for _ in range(3):
        for name in samples:
            use(name)
            samples[name].append(figures())
    use("small")
    small, full = ({key: statistics.median(one[key] for one in runs) for key in runs[0]} for runs in samples.values())
    size = f"{FLOWS:,} flows, {APPS} apps"
    row(f"linkctl open, known link, {size} / few", small["open"], full["open"], "ms", 1.1)
    row(f"CanHandle, {size} / few", 1e3 * small["CanHandle"], 1e3 * full["CanHandle"], "µs", 1.1)
    row(f"GetIdToken, cached, {size} / few", 1e3 * small["GetIdToken"], 1e3 * full["GetIdToken"], "µs", 1.1)
    row(f"activation, {size} / few", small["activation"], full["activation"], "ms")
    row(f"PSS, idle, {size} / few", small["PSS"], full["PSS"], "MB")
