<?php
// Verifies a webhook's signature over the raw body (file_get_contents("php://input")), before parsing it.

function is_genuine(string $rawBody, string $signatureHeader, string $signingSecret, int $toleranceSeconds = 300): bool
{
    $sentAt = "";
    $signatures = [];
    foreach (explode(",", $signatureHeader) as $part) {
        [$name, $value] = explode("=", trim($part), 2) + [1 => ""];
        if ($name === "t") {
            $sentAt = $value;
        } elseif ($name === "v1") {
            $signatures[] = $value;
        }
    }
    if (!preg_match('/^\d{1,12}$/', $sentAt) || abs(time() - (int) $sentAt) > $toleranceSeconds) {
        return false;
    }
    $expected = hash_hmac("sha256", "$sentAt.$rawBody", $signingSecret);
    foreach ($signatures as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}
