import { Moon, Play } from 'lucide-react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/page.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import styles from './detail.module.css';
import { ImageProgressBar } from './image-progress.tsx';
import { reasonWords } from './sandbox-words.ts';
import { useSandboxActions } from './use-sandbox-actions.ts';

/** Stands where something would that only a running sandbox has. */
export function NotRunning({ sandbox, what }: { sandbox: Sandbox; what: string }) {
  const workspace = useWorkspace();
  const { start } = useSandboxActions();
  if (sandbox.status === 'creating') {
    return (
      <Panel padded={false}>
        {sandbox.image_progress === null ? (
          <EmptyState title="Starting the sandbox">This page updates automatically.</EmptyState>
        ) : (
          <div className={styles['waiting']} role="status">
            <ImageProgressBar progress={sandbox.image_progress} />
          </div>
        )}
      </Panel>
    );
  }
  // The cause of an error stands above already, with its own button.
  if (sandbox.status === 'error') return null;
  const reason = reasonWords(sandbox.state_reason);
  return (
    <Panel padded={false}>
      <EmptyState
        icon={<Moon size={18} />}
        title="The sandbox is stopped"
        action={
          mayWrite(workspace) && (
            <Button
              variant="primary"
              icon={<Play size={15} />}
              pending={start.isPending}
              onClick={() => start.mutate(sandbox)}
            >
              Start
            </Button>
          )
        }
      >
        {reason === null ? '' : `${reason}. `}
        Start the sandbox to use {what}. Its files are kept.
      </EmptyState>
    </Panel>
  );
}
