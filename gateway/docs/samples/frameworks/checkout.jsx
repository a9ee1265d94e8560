// The card fields of one session in React. A new secret or a remount (StrictMode remounts once) replaces the fields and
// reads the session's current state.
import { loadCheckout } from "@tollbooth/checkout-js";
import { useEffect, useRef, useState } from "react";

export function Checkout({ src, sessionSecret, onPaid }) {
  const place = useRef(null);
  const checkout = useRef(null);
  const paid = useRef(onPaid);
  const [state, setState] = useState("loading");
  const [amount, setAmount] = useState("");
  const [problem, setProblem] = useState("");

  useEffect(() => {
    paid.current = onPaid;
  });

  useEffect(() => {
    const life = new AbortController();
    setState("loading");
    setProblem("");
    const show = async () => {
      const tollbooth = await loadCheckout({ src });
      if (life.signal.aborted) return;
      if (!tollbooth) return setProblem("The payment form could not be loaded.");
      const handle = tollbooth.create({ sessionSecret, signal: life.signal });
      checkout.current = handle;
      handle.on("state", setState);
      handle.on("declined", (error) => setProblem(error.message));
      handle.on("error", (error) => setProblem(error.message));
      handle.on("succeeded", (payment) => paid.current?.(payment));
      const mounted = await handle.mount(place.current);
      if (mounted.ok && !life.signal.aborted) setAmount(mounted.session.amount?.formatted ?? "");
    };
    void show();
    return () => life.abort();
  }, [src, sessionSecret]);

  const pay = async () => {
    setProblem("");
    const result = await checkout.current.confirm();
    if (result.type === "error" && result.error.code !== "destroyed") setProblem(result.error.message);
  };

  return (
    <section>
      <div ref={place} />
      <button type="button" disabled={state !== "ready"} onClick={pay}>
        Pay {amount}
      </button>
      {state === "processing" && <p role="status">We are waiting for your bank. Please do not pay again.</p>}
      {state === "succeeded" && <p role="status">Thank you.</p>}
      {problem && <p role="alert">{problem}</p>}
    </section>
  );
}
