import type { User } from '../domain/records.ts';

/** A user as shown to that user and to their teams. */
export function toUserView(user: User) {
  return {
    id: user.id,
    email: user.email ?? '',
    name: user.name,
    operator: user.operatorSince !== null,
    created_at: user.createdAt,
  };
}
