import type { ServiceState } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Status, type Tone } from '../../ui/badge.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Skeleton } from '../../ui/states.tsx';
import styles from './overview.module.css';

export interface Health {
  tone: Tone;
  label: string;
  live: boolean;
}

export interface ServiceCardProps {
  name: string;
  icon: ReactNode;
  /** Undefined while loading. */
  state: ServiceState | undefined;
  health: Health;
  /** The most important figure and its label. */
  figure: ReactNode;
  unit: string;
  plot: ReactNode;
  facts: readonly (readonly [name: string, value: ReactNode])[];
}

export function ServiceCard({ name, icon, state, health, figure, unit, plot, facts }: ServiceCardProps) {
  return (
    <section
      className={classNames(styles['card'], state?.enabled === false && styles['cardOff'])}
      aria-label={name}
      aria-busy={state === undefined}
    >
      <header className={styles['cardHeader']}>
        <span className={styles['cardIcon']}>{icon}</span>
        <h2 className={styles['cardName']}>{name}</h2>
        {state === undefined ? (
          <Skeleton width="4rem" />
        ) : (
          <Status tone={state.enabled ? health.tone : 'neutral'} live={state.enabled && health.live}>
            {state.enabled ? health.label : 'Off'}
          </Status>
        )}
      </header>
      {state?.enabled === false ? (
        <p className={styles['off']}>{state.reason === null ? 'Disabled' : capitalize(state.reason)}</p>
      ) : (
        <>
          <p className={styles['figure']}>
            {state === undefined ? <Skeleton width="3rem" height="1.5rem" /> : <strong>{figure}</strong>}
            <span className={styles['unit']}>{unit}</span>
          </p>
          <div className={styles['plot']}>{state !== undefined && plot}</div>
          <dl className={styles['facts']}>
            {facts.map(([fact, value]) => (
              <div key={fact} className={styles['fact']}>
                <dt>{fact}</dt>
                <dd>{state === undefined ? <Skeleton width="2.5rem" /> : value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </section>
  );
}

/** The platform's reasons are log messages; show them as sentences. */
function capitalize(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
}
