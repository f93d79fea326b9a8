import type { ClusterInfo } from '@svc/sdk';
import { TriangleAlert } from 'lucide-react';
import styles from './detail.module.css';

/** Limitations of the cluster: permissions that the agent lacks, clock skew. */
export function ClusterWarnings({ cluster: { warnings } }: { cluster: ClusterInfo }) {
  if (warnings.length === 0) return null;
  return (
    <section className={styles['away']} aria-label="Warnings">
      <TriangleAlert size={17} aria-hidden />
      <ul>
        {warnings.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </section>
  );
}
