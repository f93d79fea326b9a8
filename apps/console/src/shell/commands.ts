import type { Team, Workspace } from '@svc/sdk';
import type { LinkOptions } from '@tanstack/react-router';
import { paths } from '../routes/paths.ts';
import { administers } from '../session/administers.ts';
import type { Theme } from '../session/theme.ts';
import type { Creating } from './create-dialogs.tsx';

export interface Command {
  id: string;
  label: string;
  /** Type of the command, shown at the end of the row. */
  kind: string;
  run: () => void;
}

export interface CommandActions {
  go: (link: LinkOptions) => void;
  create: (what: Creating) => void;
  setTheme: (theme: Theme) => void;
  signOut: () => void;
}

export interface CommandSource {
  workspace: Workspace;
  workspaces: readonly Workspace[];
  teams: readonly Team[];
  isOperator: boolean;
}

/** All commands of the palette, closest first. */
export function listCommands(
  { workspace, workspaces, teams, isOperator }: CommandSource,
  actions: CommandActions,
): Command[] {
  const params = { workspace: workspace.uuid };
  const page = (label: string, link: LinkOptions): Command => ({
    id: `page ${label}`,
    label,
    kind: 'Page',
    run: () => actions.go(link),
  });
  const action = (label: string, run: () => void): Command => ({ id: `action ${label}`, label, kind: 'Action', run });
  return [
    page('Overview', { to: paths.workspace, params }),
    page('Clusters', { to: paths.clusters, params }),
    page('Buckets', { to: paths.buckets, params }),
    page('Bucket usage', { to: paths.usage, params }),
    page('Access keys', { to: paths.accessKeys, params }),
    page('Sandboxes', { to: paths.sandboxes, params }),
    page('Secrets', { to: paths.secrets, params }),
    page('Audit log', { to: paths.audit, params }),
    ...(administers(workspace) ? [page('Workspace settings', { to: paths.workspaceSettings, params })] : []),
    page('API tokens', { to: paths.tokens }),
    page('SSH keys', { to: paths.sshKeys }),
    page('Teams', { to: paths.teams }),
    page('Account', { to: paths.account }),
    ...(isOperator ? [page('Nodes', { to: paths.nodes })] : []),
    ...workspaces
      .filter(({ uuid }) => uuid !== workspace.uuid)
      .map(({ uuid, name }) => ({
        id: `workspace ${uuid}`,
        label: name,
        kind: 'Workspace',
        run: () => actions.go({ to: paths.workspace, params: { workspace: uuid } }),
      })),
    ...teams.map(({ uuid, name }) => ({
      id: `team ${uuid}`,
      label: name,
      kind: 'Team',
      run: () => actions.go({ to: paths.teamMembers, params: { team: uuid } }),
    })),
    ...(administers(workspace)
      ? [action('Add cluster', () => actions.go({ to: paths.clusters, params, search: { create: true } }))]
      : []),
    action('New bucket', () => actions.go({ to: paths.buckets, params, search: { create: true } })),
    action('New sandbox', () => actions.go({ to: paths.sandboxes, params, search: { create: true } })),
    action('New secret', () => actions.go({ to: paths.secrets, params, search: { create: true } })),
    action('New API token', () => actions.go({ to: paths.tokens, search: { create: true } })),
    action('Add SSH key', () => actions.go({ to: paths.sshKeys, search: { create: true } })),
    action('New workspace', () => actions.create('workspace')),
    action('New team', () => actions.create('team')),
    action('Use light theme', () => actions.setTheme('light')),
    action('Use dark theme', () => actions.setTheme('dark')),
    action('Use system theme', () => actions.setTheme('system')),
    action('Sign out', actions.signOut),
  ];
}

/**
 * Returns commands whose label or kind contains every word of the query; matches at the start of a word come first.
 */
export function filterCommands(commands: readonly Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const first = words[0];
  if (first === undefined) return [...commands];
  const matches = commands.filter((command) => {
    const text = `${command.label} ${command.kind}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const rank = ({ label }: Command): number => {
    const text = label.toLowerCase();
    if (text.startsWith(first)) return 0;
    return text.includes(` ${first}`) ? 1 : 2;
  };
  return matches.toSorted((a, b) => rank(a) - rank(b));
}
