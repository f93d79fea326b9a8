import type { ReactNode } from 'react';
import styles from './fault.module.css';

export interface FaultProps {
  /** Displayed large, such as a status; may be empty. */
  code: string;
  title: string;
  children: ReactNode;
  action: ReactNode;
}

export function Fault({ code, title, children, action }: FaultProps) {
  return (
    <div className={styles['fault']}>
      <title>{`${title} · svc`}</title>
      <p className={styles['code']}>{code}</p>
      <h1>{title}</h1>
      <div className={styles['text']}>{children}</div>
      <div className={styles['action']}>{action}</div>
    </div>
  );
}
