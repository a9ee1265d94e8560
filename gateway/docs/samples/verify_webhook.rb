# Verifies a webhook's signature over the raw body (request.body.read), before parsing it.
require "openssl"

def genuine?(raw_body, signature_header, signing_secret, tolerance_seconds = 300)
  parts = signature_header.b.split(",").map { |part| part.strip.split("=", 2) }
  sent_at = parts.assoc("t")&.at(1).to_s
  return false unless sent_at.match?(/\A\d{1,12}\z/) && (Time.now.to_i - sent_at.to_i).abs <= tolerance_seconds

  expected = OpenSSL::HMAC.hexdigest("SHA256", signing_secret, "#{sent_at}.#{raw_body}")
  parts.any? do |name, value|
    name == "v1" && value.to_s.bytesize == expected.bytesize && OpenSSL.fixed_length_secure_compare(value, expected)
  end
end
