import type { Scope, TeamRole } from '../records.ts';
import type { Rule, SelfSubject, TeamSubject, WorkspaceSubject } from './rule.ts';

/** The caller's subject outside any workspace. */
export function selfSubjectOf(kind: 'user' | 'service_account' | 'guest'): SelfSubject {
  return kind === 'guest' ? 'guest_user' : kind;
}

export function scopeSubjects(scopes: readonly Scope[]): WorkspaceSubject[] {
  return scopes.map((scope): WorkspaceSubject => `sat_${scope}`);
}

/** A team's owner counts only as owner, whatever the membership row says. */
export function teamSubjectOf(role: TeamRole, isTeamOwner: boolean): TeamSubject {
  return isTeamOwner ? 'team_owner' : `team_${role}`;
}

export function allows(rule: Rule, subjects: readonly string[]): boolean {
  return rule.allows.some((allowed) => subjects.includes(allowed));
}

type RuleOfKinds = Exclude<Rule, { scope: 'installation' }>;

/** Whether callers of this kind can ever be allowed; the resource itself may still refuse. */
export function allowsKind(rule: RuleOfKinds, kind: 'user' | 'service_account' | 'guest'): boolean {
  switch (rule.scope) {
    case 'public':
      return true;
    case 'self':
      return rule.allows.includes(selfSubjectOf(kind));
    case 'team':
      return kind === 'user';
    case 'workspace':
      return rule.allows.some((subject) => kindOfSubject(subject) === kind);
  }
}

function kindOfSubject(subject: WorkspaceSubject): 'user' | 'service_account' | 'guest' {
  if (subject === 'guest_user') return 'guest';
  return subject.startsWith('sat_') ? 'service_account' : 'user';
}
