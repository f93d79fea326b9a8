import type { ReactNode } from 'react';
import styles from './badge.module.css';
import { classNames } from './class-names.ts';

export type Tone = 'neutral' | 'ok' | 'warn' | 'danger' | 'accent';

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={classNames(styles['badge'], styles[tone])}>{children}</span>;
}

/** A status with its label, since color alone is not accessible. */
export function Status({ tone, children, live = false }: { tone: Tone; children: ReactNode; live?: boolean }) {
  return (
    <span className={classNames(styles['status'], styles[`${tone}Text`])}>
      <span className={classNames(styles['dot'], live && styles['live'])} aria-hidden="true" />
      {children}
    </span>
  );
}
