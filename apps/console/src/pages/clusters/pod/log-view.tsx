import { Pause, Play, RotateCcw } from 'lucide-react';
import { useLayoutEffect, useRef, useState } from 'react';
import { Status } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { describeError } from '../../../ui/describe-error.ts';
import { formatCount } from '../../../ui/format-number.ts';
import styles from './pod.module.css';
import { useLogs, type LogState, type LogWish, type ShownLog } from './use-logs.ts';

const NEAR_THE_END_PIXELS = 24;

/** The newest lines. They follow the log until the user scrolls up or pauses. */
export function LogView({ wish, onAgain }: { wish: LogWish; onAgain: () => void }) {
  const { state, log } = useLogs(wish);
  const [held, setHeld] = useState<ShownLog | null>(null);
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  const shown = held ?? log;
  useLayoutEffect(() => {
    if (box.current !== null && follows.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown]);
  const watchScroll = (): void => {
    if (box.current === null) return;
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_THE_END_PIXELS;
  };
  const isOver = state.kind === 'ended' || state.kind === 'failed';
  return (
    <section className={styles['log']} aria-label="Log" aria-busy={state.kind === 'opening'}>
      <div className={styles['logBar']}>
        <LogStatus state={state} paused={held !== null} />
        <span className={styles['lost']}>{formatOmitted(shown)}</span>
        {isOver ? (
          <Button size="small" icon={<RotateCcw size={14} />} onClick={onAgain}>
            Reload
          </Button>
        ) : (
          <Button
            size="small"
            icon={held === null ? <Pause size={14} /> : <Play size={14} />}
            onClick={() => setHeld(held === null ? log : null)}
          >
            {held === null ? 'Pause' : 'Resume'}
          </Button>
        )}
      </div>
      <pre
        ref={box}
        className={styles['lines']}
        role="log"
        aria-live="off"
        tabIndex={0}
        aria-label="Log lines"
        onScroll={watchScroll}
      >
        {shown.text === '' && state.kind !== 'opening' ? 'No log lines yet.' : shown.text}
      </pre>
    </section>
  );
}

function LogStatus({ state, paused }: { state: LogState; paused: boolean }) {
  if (state.kind === 'failed') {
    return (
      <span role="alert">
        <Status tone="danger">{describeError(state.error)}</Status>
      </span>
    );
  }
  if (state.kind === 'ended') return <Status tone="neutral">End of log</Status>;
  if (paused) return <Status tone="warn">Paused. New lines are buffered.</Status>;
  return state.kind === 'opening' ? (
    <Status tone="warn" live>
      Opening…
    </Status>
  ) : (
    <Status tone="ok" live>
      Live
    </Status>
  );
}

function formatOmitted({ droppedLines, droppedBytes }: ShownLog): string {
  const parts = [
    droppedLines > 0 ? `${formatCount(droppedLines)} older lines omitted` : '',
    droppedBytes > 0 ? `${formatBytes(droppedBytes)} dropped: output was too fast` : '',
  ];
  return parts.filter((each) => each !== '').join(', ');
}
