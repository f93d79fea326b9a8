import { Link } from '@tanstack/react-router';
import {
  Box,
  Database,
  Fingerprint,
  KeyRound,
  KeySquare,
  LayoutGrid,
  LockKeyhole,
  Network,
  ScrollText,
  Search,
  Server,
  Settings,
  UserRound,
  UsersRound,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { paths } from '../routes/paths.ts';
import { administers } from '../session/administers.ts';
import { useSession, useWorkspace } from '../session/use-session.ts';
import { Keys } from '../ui/kbd.tsx';
import { commandKeys } from './shortcuts.ts';
import { AccountMenu } from './account-menu.tsx';
import { useShell } from './shell-context.ts';
import styles from './sidebar.module.css';
import { WorkspaceSwitcher } from './workspace-switcher.tsx';

/** The navigation: next to the page on wide screens, in a drawer on narrow ones. */
export function Sidebar() {
  const { openPalette } = useShell();
  return (
    <div className={styles['sidebar']}>
      <WorkspaceSwitcher />
      <button type="button" className={styles['search']} onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
        <Search size={15} />
        <span className={styles['searchText']}>Search…</span>
        <Keys keys={commandKeys()} />
      </button>
      <nav className={styles['nav']} aria-label="Main">
        <WorkspaceGroup />
        <PersonalGroup />
        <PlatformGroup />
      </nav>
      <AccountMenu />
    </div>
  );
}

const linkProps = { className: styles['link'] ?? '', activeProps: { className: styles['current'] ?? '' } };

function WorkspaceGroup() {
  const workspace = useWorkspace();
  const params = { workspace: workspace.uuid };
  return (
    <NavGroup label="Workspace">
      <Link to={paths.workspace} params={params} activeOptions={{ exact: true }} {...linkProps}>
        <LayoutGrid size={15} /> Overview
      </Link>
      <Link to={paths.clusters} params={params} activeOptions={{ includeSearch: false }} {...linkProps}>
        <Network size={15} /> Clusters
      </Link>
      <Link to={paths.buckets} params={params} activeOptions={{ includeSearch: false }} {...linkProps}>
        <Database size={15} /> Buckets
      </Link>
      <Link to={paths.accessKeys} params={params} activeOptions={{ includeSearch: false }} {...linkProps}>
        <KeySquare size={15} /> Access keys
      </Link>
      <Link to={paths.sandboxes} params={params} activeOptions={{ includeSearch: false }} {...linkProps}>
        <Box size={15} /> Sandboxes
      </Link>
      <Link to={paths.secrets} params={params} activeOptions={{ includeSearch: false }} {...linkProps}>
        <LockKeyhole size={15} /> Secrets
      </Link>
      <Link to={paths.audit} params={params} activeOptions={{ includeSearch: false }} {...linkProps}>
        <ScrollText size={15} /> Audit log
      </Link>
      {administers(workspace) && (
        <Link to={paths.workspaceSettings} params={params} {...linkProps}>
          <Settings size={15} /> Settings
        </Link>
      )}
    </NavGroup>
  );
}

function PersonalGroup() {
  return (
    <NavGroup label="You">
      <Link to={paths.tokens} {...linkProps}>
        <KeyRound size={15} /> API tokens
      </Link>
      <Link to={paths.sshKeys} {...linkProps}>
        <Fingerprint size={15} /> SSH keys
      </Link>
      <Link to={paths.teams} {...linkProps}>
        <UsersRound size={15} /> Teams
      </Link>
      <Link to={paths.account} activeOptions={{ exact: true }} {...linkProps}>
        <UserRound size={15} /> Account
      </Link>
    </NavGroup>
  );
}

/** For operators. */
function PlatformGroup() {
  const { me } = useSession();
  if (!me.user.operator) return null;
  return (
    <NavGroup label="Platform">
      <Link to={paths.nodes} {...linkProps}>
        <Server size={15} /> Nodes
      </Link>
    </NavGroup>
  );
}

function NavGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={styles['group']}>
      <h2 className={styles['groupLabel']}>{label}</h2>
      {children}
    </div>
  );
}
