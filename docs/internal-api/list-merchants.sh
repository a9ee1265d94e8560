# First call of an internal service from a shell: Connect over HTTP/1.1 with JSON. `buf curl --http2-prior-knowledge` speaks gRPC to the
# same port and finds the schema by reflection, which needs `--reflect-header` with the token. The token comes from a file, so that it is in no process list.
curl -sS --max-time 3 "$TOLLBOOTH_MERCHANT_URL/merchant.v1.MerchantService/ListMerchants" \
  -H "@-" -H 'Content-Type: application/json' -H 'Connect-Timeout-Ms: 3000' -d '{"pageSize":5}' <<HEADERS
Authorization: Bearer $(head -n 1 "$TOLLBOOTH_TOKEN_FILE")
HEADERS
