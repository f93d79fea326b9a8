import type { TeamRole } from '@svc/sdk';
import type { SelectOption } from '../../ui/select.tsx';

export const ROLES: readonly SelectOption<TeamRole>[] = [
  { value: 'admin', label: 'Admin', description: 'Manages everything except deleting the team' },
  { value: 'member', label: 'Member', description: 'Uses all services' },
  { value: 'guest', label: 'Guest', description: 'Read-only access' },
];

const LABELS: Readonly<Record<TeamRole, string>> = { admin: 'Admin', member: 'Member', guest: 'Guest' };

export function roleLabel(role: TeamRole): string {
  return LABELS[role];
}
