import type { ReactNode } from 'react';
import styles from './fact-line.module.css';

/** Several short facts in one line. */
export function FactLine({ children }: { children: ReactNode }) {
  return <span className={styles['list']}>{children}</span>;
}
