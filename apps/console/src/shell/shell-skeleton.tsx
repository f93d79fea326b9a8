import { Skeleton } from '../ui/states.tsx';
import styles from './shell.module.css';

/** Stands where the shell will stand, so that nothing moves when it comes. */
export function ShellSkeleton() {
  return (
    <div className={styles['shell']} aria-busy="true" aria-label="Loading">
      <div className={styles['aside']} />
      <main className={styles['main']}>
        <div className={styles['loading']}>
          <Skeleton width="9rem" height="1.5rem" />
        </div>
      </main>
    </div>
  );
}
