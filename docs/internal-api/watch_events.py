# Follows the events of all merchants from Python: a Connect stream is a sequence of JSON messages, each after a byte of
# flags and four of length. The position belongs in your database, in the transaction of what you do with the events.
import http.client
import json
import os
import struct
import sys
import time
import urllib.error
import urllib.request

token = open(os.environ["TOLLBOOTH_TOKEN_FILE"]).readline().strip()
position = int(os.environ.get("AFTER_POSITION", "0"))

final = ("unauthenticated", "permission_denied", "invalid_argument", "unimplemented")


def read(stream, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise ConnectionError("the stream broke")
    return data


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
            flags, length = struct.unpack(">BI", read(stream, 5))
            answer = json.loads(read(stream, length))
            if flags & 2:
                error = answer.get("error")
                if error and error["code"] in final:
                    raise RuntimeError(error)
                if error:
                    raise ConnectionError(error.get("message"))
                return
            yield answer


# A stream ends after ten minutes and when its server stops, and breaks with its server: go on where it ended. The
# program ends with an error that a repeat cannot mend.
while True:
    try:
        for answer in watch(position):
            for event in answer.get("events", []):
                print(event["position"], event["type"], event["objectId"], event.get("status", ""), flush=True)
            position = int(answer["nextPosition"])
    except (OSError, http.client.HTTPException) as failure:
        if isinstance(failure, urllib.error.HTTPError) and failure.code < 500:
            raise
        print("again in a second:", failure, file=sys.stderr)
        time.sleep(1)
