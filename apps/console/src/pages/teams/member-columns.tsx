import type { Member, TeamRole } from '@svc/sdk';
import { LogOut, UserMinus } from 'lucide-react';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Monogram } from '../../ui/monogram.tsx';
import { Select } from '../../ui/select.tsx';
import type { Column } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { roleLabel, ROLES } from './roles.ts';
import styles from './teams.module.css';

export interface MemberColumnsOptions {
  selfId: string;
  mayManage: boolean;
  onRole: (member: Member, role: TeamRole) => void;
  onRemove: (member: Member) => void;
}

export function memberColumns(options: MemberColumnsOptions): Column<Member>[] {
  const { selfId, mayManage, onRole, onRemove } = options;
  return [
    {
      id: 'person',
      header: 'Member',
      cell: (member) => (
        <span className={styles['person']}>
          <span className={styles['avatar']}>
            <Monogram name={member.name} seed={member.user_id} size="large" shape="round" />
          </span>
          <span className={styles['names']}>
            <span className={styles['name']}>
              {member.name} {member.user_id === selfId && <Badge>You</Badge>}
            </span>
            <span className={styles['mail']}>{member.email}</span>
          </span>
        </span>
      ),
    },
    {
      id: 'joined',
      header: 'Joined',
      width: '9rem',
      wideOnly: true,
      cell: (member) => (
        <span className="muted">
          <RelativeTime at={member.joined_at} />
        </span>
      ),
    },
    {
      id: 'role',
      header: 'Role',
      width: '8.5rem',
      narrowWidth: '7.75rem',
      cell: (member) =>
        !mayManage || member.owner ? (
          <span className={styles['role']}>{member.owner ? 'Owner' : roleLabel(member.role)}</span>
        ) : (
          <Select
            label={`Role of ${member.name}`}
            labelHidden
            options={ROLES}
            value={member.role}
            onChange={(role) => onRole(member, role)}
          />
        ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '4rem',
      cell: (member) =>
        !member.owner &&
        (mayManage || member.user_id === selfId) && (
          <IconButton
            size="small"
            label={member.user_id === selfId ? 'Leave team' : `Remove ${member.name}`}
            onClick={() => onRemove(member)}
          >
            {member.user_id === selfId ? <LogOut size={15} /> : <UserMinus size={15} />}
          </IconButton>
        ),
    },
  ];
}
