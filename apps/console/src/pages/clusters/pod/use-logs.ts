import type { LogRequest } from '@svc/sdk';
import { useEffect, useState } from 'react';
import { useClusters } from '../../../api/clusters.ts';
import { LogLines } from './log-lines.ts';

export type LogState = { kind: 'opening' } | { kind: 'open' } | { kind: 'ended' } | { kind: 'failed'; error: unknown };

export interface ShownLog {
  text: string;
  droppedLines: number;
  droppedBytes: number;
}

export interface LogWish {
  clusterId: string;
  namespace: string;
  pod: string;
  container: string;
  previous: boolean;
  timestamps: boolean;
}

const MOST_LINES = 5_000;
const FIRST_LINES = 1_000;
/** Minimum interval between redraws of a live log. */
const DRAW_EVERY_MS = 100;

/** A live log while the component is mounted. For another log, change the component’s key. */
export function useLogs(wish: LogWish): { state: LogState; log: ShownLog } {
  const api = useClusters();
  const [state, setState] = useState<LogState>({ kind: 'opening' });
  const [log, setLog] = useState<ShownLog>(NOTHING);
  const { clusterId, namespace, pod, container, previous, timestamps } = wish;
  useEffect(() => {
    const gone = new AbortController();
    const lines = new LogLines(MOST_LINES);
    let timer: number | undefined;
    const draw = (): void => {
      timer = undefined;
      const { text, droppedLines, droppedBytes } = lines;
      setLog({ text, droppedLines, droppedBytes });
    };
    const update = (next: LogState): void => {
      if (!gone.signal.aborted) setState(next);
    };
    const request: LogRequest = {
      namespace,
      pod,
      container,
      timestamps,
      tailLines: FIRST_LINES,
      ...(previous ? { previous } : { follow: true }),
    };
    const read = async (): Promise<void> => {
      for await (const piece of api.of(clusterId).logs(request, { signal: gone.signal })) {
        lines.push(piece.text);
        lines.lost(piece.droppedLines, piece.droppedBytes);
        timer ??= window.setTimeout(draw, DRAW_EVERY_MS);
        update({ kind: 'open' });
      }
      update({ kind: 'ended' });
    };
    read().catch((error: unknown) => update({ kind: 'failed', error }));
    return () => {
      gone.abort();
      window.clearTimeout(timer);
    };
  }, [api, clusterId, namespace, pod, container, previous, timestamps]);
  return { state, log };
}

const NOTHING: ShownLog = { text: '', droppedLines: 0, droppedBytes: 0 };
