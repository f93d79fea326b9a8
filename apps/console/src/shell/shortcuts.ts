import { paths } from '../routes/paths.ts';

/** The shortcut of the command palette on this keyboard. */
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

/** `g` followed by a key opens a page. */
export const GO_SHORTCUTS: readonly GoShortcut[] = [
  { key: 'o', label: 'Overview', to: paths.workspace },
  { key: 's', label: 'Sandboxes', to: paths.sandboxes },
  { key: 'l', label: 'Audit log', to: paths.audit },
  { key: 't', label: 'API tokens', to: paths.tokens },
  { key: 'm', label: 'Teams', to: paths.teams },
  { key: 'a', label: 'Account', to: paths.account },
];

/** Time limit for the second key after `g`. */
export const CHORD_MS = 1200;
