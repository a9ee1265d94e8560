# First call of an internal service from Python: Connect is plain HTTP, so the standard library will do.
import json
import os
import urllib.request

token = open(os.environ["TOLLBOOTH_TOKEN_FILE"]).readline().strip()
request = urllib.request.Request(
    os.environ["TOLLBOOTH_MERCHANT_URL"] + "/merchant.v1.MerchantService/ListMerchants",
    data=json.dumps({"pageSize": 5}).encode(),
    headers={
        "Authorization": "Bearer " + token,
        "Content-Type": "application/json",
        "Connect-Timeout-Ms": "3000",
    },
)
with urllib.request.urlopen(request, timeout=3) as answer:
    for merchant in json.load(answer).get("merchants", []):
        print(merchant["id"], merchant["status"])
