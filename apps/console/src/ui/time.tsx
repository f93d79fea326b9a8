import { createContext, useContext, useEffect, useState, type ReactNode } from 'react';
import { formatAbsolute, formatRelative } from './format-time.ts';

const Now = createContext(0);
const TICK_MS = 15_000;

/** One clock for all relative times of the page. */
export function NowProvider({ children }: { children: ReactNode }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => window.clearInterval(timer);
  }, []);
  return <Now value={nowMs}>{children}</Now>;
}

/** The page's clock, which ticks every few seconds. */
export function useNow(): number {
  return useContext(Now);
}

/** “5 min ago”, with the exact time as tooltip and in `datetime`. */
export function RelativeTime({ at }: { at: string }) {
  const nowMs = useNow();
  return (
    <time dateTime={at} title={formatAbsolute(at)}>
      {formatRelative(Date.parse(at), nowMs)}
    </time>
  );
}

/** Date and time to the second, in the user's time zone. */
export function AbsoluteTime({ at }: { at: string }) {
  return <time dateTime={at}>{formatAbsolute(at)}</time>;
}
