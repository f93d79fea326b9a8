import type { ResourceResult } from '@svc/sdk';
import { Badge } from '../../../ui/badge.tsx';
import { Section } from '../../../ui/page.tsx';
import { keyOf } from './resource-key.ts';
import { ACTION_TONES } from './deployment-labels.ts';
import styles from './deployments.module.css';

/** Further ones start collapsed. */
const MOST_OPEN = 3;

/** Fields that a deployment would change, by resource. */
export function ResourceDiffs({ resources }: { resources: readonly ResourceResult[] }) {
  const changed = resources.filter(({ diff = [] }) => diff.length > 0);
  if (changed.length === 0) return null;
  return (
    <Section title="Field changes" description="Current and new values.">
      <div className={styles['stack']}>
        {changed.map((resource, index) => (
          <details key={keyOf(resource)} className={styles['diff']} open={index < MOST_OPEN}>
            <summary>
              <strong>
                {resource.kind}/{resource.name}
              </strong>
              <Badge tone={ACTION_TONES[resource.action]}>{resource.action}</Badge>
              <span className="muted">{formatFieldCount(resource.diff?.length ?? 0)}</span>
            </summary>
            <div className={styles['fields']}>
              {resource.diff?.map(({ path, before, after }) => (
                <div key={path} className={styles['field']}>
                  <span className={styles['path']}>{path}</span>
                  {before !== undefined && <del className={styles['before']}>{before}</del>}
                  {after !== undefined && <ins className={styles['after']}>{after}</ins>}
                </div>
              ))}
            </div>
          </details>
        ))}
      </div>
    </Section>
  );
}

function formatFieldCount(count: number): string {
  return count === 1 ? '1 field' : `${count} fields`;
}
