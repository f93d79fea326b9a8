import { ChevronDown, ChevronUp, Pause, Play, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { describeError } from '../ui/describe-error.ts';
import { formatBytes } from '../ui/format-bytes.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { useUploadList, useUploads } from './uploads-context.ts';
import { isFileTarget, type Upload, type UploadTarget } from './upload-queue.ts';
import styles from './upload-tray.module.css';

const MOST_SHOWN = 100;

/** Shown in a corner of the shell while there are uploads. */
export function UploadTray() {
  const uploads = useUploadList();
  const { queue } = useUploads();
  const [folded, setFolded] = useState(false);
  const summary = summarizeUploads(uploads);
  useLeaveWarning(summary.running > 0);
  if (uploads.length === 0) return null;
  return (
    <section className={styles['tray']} aria-label="Uploads">
      <header className={styles['header']}>
        <h2 className={styles['title']}>
          <span role="status">{summary.text}</span>
        </h2>
        {summary.running === 0 && uploads.some(({ state }) => state === 'done') && (
          <Button size="small" variant="ghost" onClick={() => queue.clearFinished()}>
            Clear
          </Button>
        )}
        <IconButton size="small" label={folded ? 'Show uploads' : 'Hide uploads'} onClick={() => setFolded(!folded)}>
          {folded ? <ChevronUp size={15} /> : <ChevronDown size={15} />}
        </IconButton>
      </header>
      {!folded && (
        <ul className={styles['list']}>
          {uploads
            .slice(-MOST_SHOWN)
            .toReversed()
            .map((upload) => (
              <UploadLine key={upload.id} upload={upload} />
            ))}
        </ul>
      )}
    </section>
  );
}

/** Warns before a reload that would end running uploads. */
function useLeaveWarning(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [active]);
}

const TONES = { waiting: 'neutral', sending: 'accent', paused: 'neutral', failed: 'danger', done: 'ok' } as const;

function UploadLine({ upload }: { upload: Upload }) {
  const { queue } = useUploads();
  const { id, state, target, file, sentBytes } = upload;
  const name = target.key.slice(target.key.lastIndexOf('/') + 1) || target.key;
  return (
    <li className={styles['line']}>
      <div className={styles['text']}>
        <span className={styles['name']} title={describeTarget(target)}>
          {name}
        </span>
        <span className={styles['state']}>{describeState(upload)}</span>
      </div>
      <span className={styles['actions']}>
        {(state === 'sending' || state === 'waiting') && (
          <IconButton size="small" label={`Pause ${name}`} onClick={() => queue.pause(id)}>
            <Pause size={14} />
          </IconButton>
        )}
        {(state === 'paused' || state === 'failed') && (
          <IconButton size="small" label={`Resume ${name}`} onClick={() => queue.resume(id)}>
            <Play size={14} />
          </IconButton>
        )}
        <IconButton size="small" label={`Remove ${name}`} onClick={() => queue.remove(id)}>
          <X size={14} />
        </IconButton>
      </span>
      <div className={styles['progress']}>
        <ProgressBar
          label={`Upload of ${name}`}
          share={state === 'done' ? 1 : file.size === 0 ? 0 : sentBytes / file.size}
          tone={TONES[state]}
        />
      </div>
    </li>
  );
}

function describeTarget(target: UploadTarget): string {
  if (!isFileTarget(target)) return `${target.bucket}/${target.key}`;
  return target.owner.kind === 'volume' ? `${target.owner.id}:${target.key}` : target.key;
}

function describeState({ state, sentBytes, file, bytesPerSecond, error }: Upload): string {
  switch (state) {
    case 'waiting':
      return 'Waiting';
    case 'paused':
      return `Paused at ${formatBytes(sentBytes)} of ${formatBytes(file.size)}`;
    case 'failed':
      return describeError(error);
    case 'done':
      return formatBytes(file.size);
    case 'sending': {
      const speed = bytesPerSecond > 0 ? `, ${formatBytes(bytesPerSecond)}/s` : '';
      return `${formatBytes(sentBytes)} of ${formatBytes(file.size)}${speed}`;
    }
  }
}

interface UploadSummary {
  text: string;
  /** Uploads in progress. */
  running: number;
}

/** Summarizes all uploads in one line, most urgent first. */
function summarizeUploads(uploads: readonly Upload[]): UploadSummary {
  const count = (state: Upload['state']): number => uploads.filter((upload) => upload.state === state).length;
  const running = count('sending') + count('waiting');
  const failed = count('failed');
  if (running > 0) {
    const open = uploads.filter(({ state }) => state === 'sending' || state === 'waiting');
    const total = open.reduce((sum, { file }) => sum + file.size, 0);
    const sent = open.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
    const percent = total === 0 ? 0 : Math.floor((sent / total) * 100);
    return { text: `Uploading ${files(running)}, ${percent}%`, running };
  }
  if (failed > 0) return { text: `${files(failed)} failed`, running };
  const paused = count('paused');
  if (paused > 0) return { text: `${files(paused)} paused`, running };
  return { text: `${files(uploads.length)} uploaded`, running };
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}
