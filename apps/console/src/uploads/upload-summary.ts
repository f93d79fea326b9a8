import type { Upload } from './upload-queue.ts';

export interface UploadSummary {
  text: string;
  /** Uploads in progress. */
  running: number;
}

/** Summarizes all uploads in one line, most urgent first. */
export function summaryOf(uploads: readonly Upload[]): UploadSummary {
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
