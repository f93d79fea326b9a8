import { paths } from '../routes/paths.ts';

/** What opens the command palette, as this keyboard names it. */
export function commandKeys(): readonly string[] {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? ['⌘', 'K'] : ['Ctrl', 'K'];
}

export interface GoShortcut {
  /** The second key, after `g`. */
  key: string;
  label: string;
  to:
    | typeof paths.workspace
    | typeof paths.sandboxes
    | typeof paths.audit
    | typeof paths.tokens
    | typeof paths.teams
    | typeof paths.account;
}

/** `g` and then a key goes to a page. */
export const GO_SHORTCUTS: readonly GoShortcut[] = [
  { key: 'o', label: 'Overview', to: paths.workspace },
  { key: 's', label: 'Sandboxes', to: paths.sandboxes },
  { key: 'l', label: 'Audit log', to: paths.audit },
  { key: 't', label: 'API tokens', to: paths.tokens },
  { key: 'm', label: 'Teams', to: paths.teams },
  { key: 'a', label: 'Account', to: paths.account },
];

/** How long after `g` the second key counts. */
export const CHORD_MS = 1200;
