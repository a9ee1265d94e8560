# Follows the events of all merchants from Python: a Connect stream is a sequence of JSON messages, each after a byte of
# flags and four of length. The position belongs in your database, in the transaction of what you do with the events.
import json
import os
import struct
import urllib.request

token = open(os.environ["TOLLBOOTH_TOKEN_FILE"]).readline().strip()
position = int(os.environ.get("AFTER_POSITION", "0"))


def watch(after_position: int):
    message = json.dumps({"afterPosition": after_position}).encode()
    request = urllib.request.Request(
        os.environ["TOLLBOOTH_EVENTS_URL"] + "/events.v1.EventService/Watch",
        data=struct.pack(">BI", 0, len(message)) + message,
        headers={"Authorization": "Bearer " + token, "Content-Type": "application/connect+json"},
    )
    # An answer comes every 15 seconds at least.
    with urllib.request.urlopen(request, timeout=30) as stream:
        while True:
            flags, length = struct.unpack(">BI", stream.read(5))
            answer = json.loads(stream.read(length))
            if flags & 2:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return
            yield answer


# A stream ends after ten minutes and when its server stops: go on where it ended.
while True:
    for answer in watch(position):
        for event in answer.get("events", []):
            print(event["position"], event["type"], event["objectId"], event.get("status", ""), flush=True)
        position = int(answer["nextPosition"])
