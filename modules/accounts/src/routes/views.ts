import type { User } from '../domain/records.ts';

/** A user as shown to that user and to their teams. */
export function userView(user: User) {
  return {
    id: user.id,
    email: user.email ?? '',
    name: user.name,
    operator: user.operatorSince !== null,
    created_at: user.createdAt,
  };
}
