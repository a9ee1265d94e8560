// Verifies a webhook's signature over the raw body, before parsing it.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
)

// IsGenuine takes the exact bytes of the body, the Service-Signature header and the endpoint's signing secret.
func IsGenuine(rawBody []byte, signatureHeader, signingSecret string, tolerance time.Duration) bool {
	sentAt, signatures := "", []string{}
	for _, part := range strings.Split(signatureHeader, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == "t" {
			sentAt = value
		} else if name == "v1" {
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if err != nil || math.Abs(time.Since(time.Unix(seconds, 0)).Seconds()) > tolerance.Seconds() {
		return false
	}
	mac := hmac.New(sha256.New, []byte(signingSecret))
	mac.Write([]byte(sentAt + "."))
	mac.Write(rawBody)
	for _, signature := range signatures {
		decoded, err := hex.DecodeString(signature)
		if err == nil && hmac.Equal(decoded, mac.Sum(nil)) {
			return true
		}
	}
	return false
}
