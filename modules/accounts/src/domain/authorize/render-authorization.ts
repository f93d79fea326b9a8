import type { Rule, SelfSubject, TeamSubject, WorkspaceSubject } from './rule.ts';

interface Columns {
  title: string;
  intro: string;
  /** Subjects and their column headings. */
  subjects: readonly (readonly [subject: string, heading: string])[];
}

const WORKSPACE: Columns & { subjects: readonly (readonly [WorkspaceSubject, string])[] } = {
  title: 'In a workspace',
  intro:
    'The owner of a workspace needs no team. Team members add `?team_uuid=`: without it they get 404, with a ' +
    'team they do not belong to 403, and with the wrong team 404. A service account (`sat_`) can access its ' +
    'own workspace with any team. Callers without access to the workspace get 404; callers whose role is too ' +
    'low get 403.',
  subjects: [
    ['owner', 'owner'],
    ['admin', 'team admin'],
    ['member', 'team member'],
    ['guest', 'team guest'],
    ['sat_read', '`sat_` read'],
    ['sat_write', '`sat_` write'],
    ['sat_admin', '`sat_` admin'],
    ['guest_user', 'guest sign-in'],
  ],
};

const TEAM: Columns & { subjects: readonly (readonly [TeamSubject, string])[] } = {
  title: 'On a team',
  intro: 'Callers outside the team get 404. Service accounts and guest sign-ins get 403.',
  subjects: [
    ['team_owner', 'team owner'],
    ['team_admin', 'admin'],
    ['team_member', 'member'],
    ['team_guest', 'guest'],
  ],
};

const SELF: Columns & { subjects: readonly (readonly [SelfSubject, string])[] } = {
  title: 'On your own account',
  intro:
    'Other kinds of callers get 403. A sign-in is confirmed for ten minutes after the password was entered ' +
    'or the external issuer authenticated the user; API tokens are never confirmed.',
  subjects: [
    ['user', 'user'],
    ['service_account', 'service account'],
    ['guest_user', 'guest sign-in'],
  ],
};

/** Renders `docs/authorization.md` from the table alone. */
export function renderAuthorization(table: Readonly<Record<string, Rule>>): string {
  const rules = Object.entries(table);
  const ofScope = (scope: Rule['scope']) => rules.filter(([, rule]) => rule.scope === scope);
  const parts = [
    '# Permissions',
    'Look up which roles and tokens may perform an action. In a workspace of a team, requests name the team:',
    '',
    '```sh',
    'curl -s "$API/api/v1/workspaces/$WORKSPACE?team_uuid=$TEAM" -H "Authorization: Bearer $TOKEN"     # workspace:read',
    '```',
    '',
    'Without valid credentials, all actions except the public ones return 401. This page is generated from',
    '`modules/accounts/src/domain/authorize/table.ts` by `npm run docs --workspace @svc/accounts`; a test fails if it is stale.',
    section(WORKSPACE, ofScope('workspace')),
    section(TEAM, ofScope('team')),
    section(SELF, ofScope('self')),
    '## On the installation\nOperator only: the owner account created on first start. All other callers get 403.\n',
    ...ofScope('installation').map(([action, rule]) => `- \`${action}\`: ${rule.summary}.`),
    '\n## Without credentials\n',
    ...ofScope('public').map(([action, rule]) => `- \`${action}\`: ${rule.summary}.`),
  ];
  return `${parts.join('\n')}\n`;
}

function section(columns: Columns, rules: readonly (readonly [string, Rule])[]): string {
  const heads = ['action', 'what', ...columns.subjects.map(([, heading]) => heading)];
  const rows = rules.map(([action, rule]) => {
    const allowed: readonly string[] = rule.allows;
    const marks = columns.subjects.map(([subject]) => (allowed.includes(subject) ? 'yes' : '-'));
    const isConfirmed = rule.scope === 'self' && rule.confirmed === true;
    return [`\`${action}\``, `${rule.summary}${isConfirmed ? ' (confirmed sign-in)' : ''}`, ...marks];
  });
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `\n## ${columns.title}\n${columns.intro}\n\n${lines.join('\n')}\n`;
}
