import type { TerminalSession } from '@svc/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { terminalsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxKey } from '../../../api/query-keys.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Panel } from '../../../ui/page.tsx';
import { EmptyState, LoadingRegion } from '../../../ui/states.tsx';
import { NotRunning } from '../detail/not-running.tsx';
import { isAwake } from '../detail/sandbox-labels.ts';
import { SessionBar } from './session-bar.tsx';
import { TerminalView } from './terminal-view.tsx';
import styles from '../../../terminal/terminal.module.css';
import type { TerminalWish } from './use-terminal.ts';

const route = getRouteApi('/shell/w/$workspace/sandboxes/$sandbox/');

export function TerminalPage() {
  const sandbox = useSandbox();
  const workspace = useWorkspace();
  if (!isAwake(sandbox)) return <NotRunning sandbox={sandbox} what="the terminal" />;
  if (mayWrite(workspace)) return <RunningTerminal key={`${sandbox.id} ${sandbox.started_at}`} sandbox={sandbox} />;
  return (
    <Panel padded={false}>
      <EmptyState title="Guests cannot open a terminal">Ask a workspace owner to make you a member.</EmptyState>
    </Panel>
  );
}

/** Loads the sessions first, so that returning users find their shell. */
function RunningTerminal({ sandbox }: { sandbox: Sandbox }) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const { session } = route.useSearch();
  const terminals = useQuery(terminalsQuery(api, workspace, sandbox.id));
  if (terminals.data === undefined && !terminals.isError) return <LoadingRegion height="24rem" />;
  const sessions = terminals.data ?? [];
  return <Terminals sandbox={sandbox} sessions={sessions} first={choose(sessions, session)} />;
}

function choose(sessions: readonly TerminalSession[], wanted: string | undefined): string | null {
  const alive = sessions.filter(({ exited }) => !exited);
  return (alive.find(({ session }) => session === wanted) ?? alive.at(-1))?.session ?? null;
}

interface TerminalsProps {
  sandbox: Sandbox;
  sessions: readonly TerminalSession[];
  first: string | null;
}

function Terminals({ sandbox, sessions, first }: TerminalsProps) {
  const queryClient = useQueryClient();
  const workspace = useWorkspace();
  const navigate = route.useNavigate();
  const [shown, setShown] = useState<{ number: number; wish: TerminalWish }>({
    number: 0,
    wish: { sandboxId: sandbox.id, session: first, readOnly: false, takeover: false },
  });
  const keepInUrl = (session: string | null): void =>
    void navigate({ search: session === null ? {} : { session }, replace: true, resetScroll: false });
  const open = (wish: Partial<TerminalWish>): void => {
    const next = { sandboxId: sandbox.id, session: null, readOnly: false, takeover: false, ...wish };
    setShown(({ number }) => ({ number: number + 1, wish: next }));
    keepInUrl(next.session);
  };
  const named = (session: string): void => {
    setShown(({ number, wish }) => ({ number, wish: { ...wish, session } }));
    keepInUrl(session);
    void queryClient.invalidateQueries({ queryKey: [...sandboxKey(workspace, sandbox.id), 'terminals'] });
  };
  return (
    <>
      <TerminalView
        key={shown.number}
        wish={shown.wish}
        sessions={<SessionBar wish={shown.wish} sessions={sessions} onOpen={open} />}
        onSession={named}
        onOpen={open}
      />
      <p className={styles['hint']}>
        Sessions stay alive for 10 minutes after you leave. Ctrl+Shift+F: find. Ctrl+Shift+X: leave the terminal.
      </p>
    </>
  );
}
