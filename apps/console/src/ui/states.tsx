import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { describeError } from './describe-error.ts';
import { RequestId } from './form-error.tsx';
import styles from './states.module.css';

export interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

/** An empty list: what would be here, and how to begin. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className={styles['state']}>
      {icon !== undefined && <span className={styles['icon']}>{icon}</span>}
      <h2 className={styles['title']}>{title}</h2>
      {children !== undefined && <p className={styles['text']}>{children}</p>}
      {action !== undefined && <div className={styles['action']}>{action}</div>}
    </div>
  );
}

export interface ErrorStateProps {
  error: unknown;
  title?: string;
  /** Replaces the description of the error. */
  children?: ReactNode;
  onRetry?: () => void;
}

/** A failed load, with a retry. */
export function ErrorState({ error, title = 'Could not load this', children, onRetry }: ErrorStateProps) {
  return (
    <div className={styles['state']} role="alert">
      <span className={classNames(styles['icon'], styles['iconDanger'])}>
        <CircleAlert size={18} />
      </span>
      <h2 className={styles['title']}>{title}</h2>
      <p className={styles['text']}>
        {children ?? describeError(error)}
        <RequestId error={error} />
      </p>
      {onRetry !== undefined && (
        <div className={styles['action']}>
          <Button onClick={onRetry}>Try again</Button>
        </div>
      )}
    </div>
  );
}

export interface SkeletonProps {
  /** CSS lengths; match the size of the final content to prevent a layout shift. */
  width: string;
  height?: string;
}

/** A loading region that has no element of its own yet. */
export function LoadingRegion({ height }: Pick<SkeletonProps, 'height'>) {
  return (
    <div aria-busy="true">
      <Skeleton width="100%" {...(height === undefined ? {} : { height })} />
    </div>
  );
}

/** Placeholder for loading content. Hidden from screen readers; the region around it is marked as busy. */
export function Skeleton({ width, height = '0.75rem' }: SkeletonProps) {
  return <span aria-hidden="true" className={styles['skeleton']} style={{ width, height }} />;
}
