import { Link } from '@tanstack/react-router';
import { ChevronRight, Trash2 } from 'lucide-react';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import styles from './browser.module.css';
import type { Entry } from './entries.ts';
import { stepsOf } from './folder-path.ts';

export interface PathBarProps {
  bucket: string;
  prefix: string;
  selected: readonly Entry[];
  onDelete: (() => void) | null;
  onClear: () => void;
}

/** Where this is; and once something is chosen, what can be done with it. */
export function PathBar({ bucket, prefix, selected, onDelete, onClear }: PathBarProps) {
  const workspace = useWorkspace();
  const params = { workspace: workspace.uuid, bucket };
  const steps = stepsOf(prefix);
  return (
    <div className={styles['bar']}>
      <nav aria-label="Folders" className={styles['path']}>
        <Link to={paths.bucket} params={params} search={{}} aria-current={steps.length === 0 ? 'page' : undefined}>
          {bucket}
        </Link>
        {steps.map((step, index) => (
          <span key={step.prefix} className={styles['step']}>
            <ChevronRight size={13} aria-hidden="true" />
            <Link
              to={paths.bucket}
              params={params}
              search={{ prefix: step.prefix }}
              aria-current={index === steps.length - 1 ? 'page' : undefined}
            >
              {step.name}
            </Link>
          </span>
        ))}
      </nav>
      {selected.length > 0 && onDelete !== null && (
        <div className={styles['chosen']} role="status">
          <span>{selected.length} selected</span>
          <Button size="small" variant="ghost" onClick={onClear}>
            Clear
          </Button>
          <Button size="small" variant="danger" icon={<Trash2 size={13} />} onClick={onDelete}>
            Delete
          </Button>
        </div>
      )}
    </div>
  );
}
