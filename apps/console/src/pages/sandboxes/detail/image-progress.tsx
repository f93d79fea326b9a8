import type { ImageProgress } from '../../../api/sandbox-types.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { ProgressBar } from '../../../ui/progress-bar.tsx';
import styles from './detail.module.css';

const STAGES: Readonly<Record<string, string>> = {
  resolving: 'Resolving image',
  downloading: 'Downloading image',
  unpacking: 'Unpacking image',
  building: 'Building image',
};

/** Progress of an image download or build. */
export function ImageProgressBar({ progress }: { progress: ImageProgress }) {
  const { stage, source, layers, layers_done: layersDone, bytes, bytes_done: bytesDone } = progress;
  const title = STAGES[stage] ?? 'Preparing image';
  const amount = bytes > 0 ? `${formatBytes(bytesDone)} of ${formatBytes(bytes)}` : null;
  const parts = layers > 0 ? `${layersDone} of ${layers} layers` : null;
  return (
    <div className={styles['progress']}>
      <p className={styles['progressWords']}>
        <span>
          {title} <span className="muted">from {source}</span>
        </span>
        <span className="muted">{[amount, parts].filter((each) => each !== null).join(', ')}</span>
      </p>
      {bytes > 0 && <ProgressBar label={title} share={bytesDone / bytes} />}
    </div>
  );
}
