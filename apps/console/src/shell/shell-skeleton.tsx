import { Skeleton } from '../ui/states.tsx';
import styles from './shell.module.css';

/** Placeholder with the shell's layout, to prevent a layout shift. */
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
