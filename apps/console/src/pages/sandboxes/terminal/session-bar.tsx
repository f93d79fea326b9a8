import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Eye, LogOut, PhoneOff, Plus } from 'lucide-react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxKey } from '../../../api/query-keys.ts';
import type { TerminalSession } from '@svc/sdk';
import { useWorkspace } from '../../../session/use-session.ts';
import { IconButton } from '../../../ui/button.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../../ui/menu.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { sessionLabel } from './terminal-labels.ts';
import styles from '../../../terminal/terminal.module.css';
import type { TerminalWish } from './use-terminal.ts';

export interface SessionBarProps {
  wish: TerminalWish;
  sessions: readonly TerminalSession[];
  onOpen: (wish: Partial<TerminalWish>) => void;
}

/** Sessions of this sandbox. They outlive their clients, and any of them can be joined. */
export function SessionBar({ wish, sessions, onOpen }: SessionBarProps) {
  return (
    <>
      <div className={styles['sessions']} role="group" aria-label="Terminals">
        {sessions.map((each) => (
          <button
            key={each.session}
            type="button"
            className={styles['session']}
            aria-current={each.session === wish.session || undefined}
            title={each.exited ? 'Shell ended' : `${each.cols} × ${each.rows}`}
            onClick={() => each.session !== wish.session && onOpen({ session: each.session })}
          >
            {sessionLabel(each)}
            {each.attached > 1 && <span className={styles['watchers']}>{each.attached} viewers</span>}
            {each.exited && <span className={styles['watchers']}>ended</span>}
          </button>
        ))}
      </div>
      <IconButton label="New terminal" size="small" onClick={() => onOpen({ session: null })}>
        <Plus size={15} />
      </IconButton>
      {wish.session !== null && <SessionMenu wish={wish} onOpen={onOpen} />}
    </>
  );
}

function SessionMenu({ wish, onOpen }: Omit<SessionBarProps, 'sessions'>) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { failed } = useToasts();
  const { sandboxId, session, readOnly } = wish;
  const hangUp = useMutation({
    mutationFn: (name: string) => api.of(sandboxId).endTerminal(name),
    onError: (error) => failed('Could not end the session', error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: sandboxKey(workspace, sandboxId) }),
  });
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label="Actions for this terminal" size="small">
          <Ellipsis size={15} />
        </IconButton>
      }
    >
      <MenuItem icon={<LogOut size={14} />} onClick={() => onOpen({ session, takeover: true })}>
        Take over
      </MenuItem>
      <MenuItem icon={<Eye size={14} />} onClick={() => onOpen({ session, readOnly: !readOnly })}>
        {readOnly ? 'Enable input' : 'View only'}
      </MenuItem>
      <MenuSeparator />
      <MenuItem
        icon={<PhoneOff size={14} />}
        tone="danger"
        onClick={() => {
          if (session !== null) hangUp.mutate(session);
        }}
      >
        End session
      </MenuItem>
    </Menu>
  );
}
