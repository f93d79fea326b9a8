import { classNames } from './class-names.ts';
import styles from './progress-bar.module.css';

export interface ProgressBarProps {
  label: string;
  /** Progress between 0 and 1. */
  share: number;
  tone?: 'accent' | 'ok' | 'danger' | 'neutral';
}

export function ProgressBar({ label, share, tone = 'accent' }: ProgressBarProps) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div
      className={styles['bar']}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
    >
      <span className={classNames(styles['fill'], styles[tone])} style={{ width: `${percent}%` }} />
    </div>
  );
}
