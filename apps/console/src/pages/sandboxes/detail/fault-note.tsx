import { RotateCcw } from 'lucide-react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import styles from './detail.module.css';
import { describeFault } from './sandbox-labels.ts';
import { useSandboxActions } from './use-sandbox-actions.ts';

/** Why the sandbox failed, with a remedy. */
export function FaultNote({ sandbox }: { sandbox: Sandbox }) {
  const workspace = useWorkspace();
  const { start } = useSandboxActions();
  const { error } = sandbox;
  if (sandbox.status !== 'error' || error === null) return null;
  const { title, remedy } = describeFault(error);
  return (
    <section className={styles['fault']} role="alert">
      <div className={styles['faultText']}>
        <h2>{title}</h2>
        <p>{error.message}</p>
        <p className="muted">
          {remedy} <code>{error.code}</code>
        </p>
      </div>
      {mayWrite(workspace) && (
        <Button icon={<RotateCcw size={15} />} pending={start.isPending} onClick={() => start.mutate(sandbox)}>
          Restart
        </Button>
      )}
    </section>
  );
}
