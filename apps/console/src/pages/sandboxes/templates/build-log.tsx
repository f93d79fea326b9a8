import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { ErrorState } from '../../../ui/states.tsx';
import styles from './templates.module.css';

const MOST_LINES = 5_000;
const DRAW_EVERY_MS = 100;
const NEAR_THE_END_PIXELS = 24;

/** The newest lines of a build’s log, live until it ends. They follow the log until the user scrolls up. */
export function BuildLog({ name, buildId }: { name: string; buildId: string }) {
  const { text, error } = useBuildLog(name, buildId);
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (box.current !== null && follows.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  const watchScroll = (): void => {
    if (box.current === null) return;
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_THE_END_PIXELS;
  };
  if (error !== null) return <ErrorState error={error} />;
  return (
    <pre
      ref={box}
      className={styles['log']}
      role="log"
      aria-live="off"
      tabIndex={0}
      aria-label="Log lines"
      onScroll={watchScroll}
    >
      {text === '' ? 'No log lines yet.' : text}
    </pre>
  );
}

/** For another build, change the component’s key. */
function useBuildLog(name: string, buildId: string): { text: string; error: unknown } {
  const api = useSandboxes();
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const gone = new AbortController();
    let lines: string[] = [];
    let timer: number | undefined;
    const draw = (): void => {
      timer = undefined;
      lines = lines.slice(-MOST_LINES);
      setText(lines.join('\n'));
    };
    const read = async (): Promise<void> => {
      for await (const { message } of api.templates.logs(name, buildId, { signal: gone.signal })) {
        lines.push(message);
        timer ??= window.setTimeout(draw, DRAW_EVERY_MS);
      }
    };
    read().catch((failure: unknown) => {
      if (!gone.signal.aborted) setError(failure);
    });
    return () => {
      gone.abort();
      window.clearTimeout(timer);
    };
  }, [api, name, buildId]);
  return { text, error };
}
