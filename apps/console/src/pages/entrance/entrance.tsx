import type { ReactNode } from 'react';
import { Mark } from '../../ui/mark.tsx';
import styles from './entrance.module.css';

export interface EntranceProps {
  title: string;
  description?: ReactNode;
  children: ReactNode;
}

/** The frame of the pages before sign-in. */
export function Entrance({ title, description, children }: EntranceProps) {
  return (
    <main className={styles['entrance']}>
      <title>{`${title} · svc`}</title>
      <div className={styles['card']}>
        <div className={styles['mark']}>
          <Mark size={26} />
        </div>
        <h1 className={styles['title']}>{title}</h1>
        {description !== undefined && <p className={styles['description']}>{description}</p>}
        <div className={styles['body']}>{children}</div>
      </div>
    </main>
  );
}
