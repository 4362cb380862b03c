"""A process at the other end of a pipe that misbehaves on request."""

import json
import os
import subprocess
import sys
import time


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        reply = json.dumps({"id": asked["id"], "env": dict(os.environ)})
        match asked["do"]:
            case "crash":
                print("the disk is full", file=sys.stderr, flush=True)
                os._exit(7)
            case "hang" | "sleep" as what:
                time.sleep(60 if what == "hang" else asked["seconds"])
            case "garbage":
                reply = "loading model... done"
            case "list":
                reply = "[1, 2]"
            case "huge":
                reply = json.dumps({"id": asked["id"], "text": "x" * asked["bytes"]})
            case "other":
                reply = json.dumps({"id": 99})
            case "error":
                reply = json.dumps({"id": asked["id"], "error": "ValueError: no such thing"})
            case "half":
                sys.stdout.write(reply[:5])
                sys.stdout.flush()
                os._exit(0)
            case "child":
                child = subprocess.Popen(["sleep", "60"])
                reply = json.dumps({"id": asked["id"], "child": child.pid})
            case "deaf":
                print(reply, flush=True)
                time.sleep(60)
        print(reply, flush=True)


if __name__ == "__main__":
    main()
