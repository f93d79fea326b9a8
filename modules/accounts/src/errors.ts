import { QUOTA_EXCEEDED_MESSAGE } from '@svc/quotas';
import { defineErrors } from '@svc/errors';

/** Errors of this module. Those about credentials and others' resources reveal as little as possible. */
export const accountErrors = defineErrors({
  INVALID_REQUEST: [400, 'Invalid request: {reason}'],
  PASSWORD_UNSUITABLE: [400, 'The password {reason}'],
  EXPIRY_TOO_LATE: [400, 'The expiry must not be later than that of your credential ({latest})'],
  SCOPE_TOO_WIDE: [400, 'A service account cannot grant the scope {scope}, which it does not have'],
  SSH_KEY_UNSUITABLE: [400, 'The public key {reason}'],
  UNKNOWN_QUOTA: [400, 'Unknown quota {quota}; known quotas: {known}'],

  UNAUTHORIZED: [401, 'Missing or invalid credentials'],
  INVALID_CREDENTIALS: [401, 'Wrong email or password'],

  FORBIDDEN: [403, 'Insufficient permissions'],
  NOT_TEAM_MEMBER: [403, 'Not a member of this team'],
  CSRF_TOKEN_INVALID: [403, 'The X-CSRF-Token header is missing or wrong; its value is in GET /api/auth/me'],
  CROSS_SITE_REQUEST: [403, 'Sign-in from a page of another site is refused'],
  WRONG_PASSWORD: [403, 'The current password is wrong'],
  INTERACTIVE_SESSION_REQUIRED: [
    403,
    'An API token cannot change passwords, tokens, SSH keys or sign-ins; sign in with the password instead',
  ],
  CONFIRMATION_REQUIRED: [403, 'Confirm your identity: {remedy}, then try again'],
  QUOTA_EXCEEDED: [403, QUOTA_EXCEEDED_MESSAGE],
  GUESTS_DISABLED: [403, 'Guest sign-in is off on this platform'],

  PASSWORD_LINK_NOT_FOUND: [404, 'Password link not found, already used or expired'],
  USER_NOT_FOUND: [404, 'No user with this email address'],
  WORKSPACE_NOT_FOUND: [404, 'Workspace not found'],
  TEAM_NOT_FOUND: [404, 'Team not found'],
  MEMBER_NOT_FOUND: [404, 'Member not found'],
  INVITATION_NOT_FOUND: [404, 'Invitation not found, already used or expired'],
  TOKEN_NOT_FOUND: [404, 'Token not found'],
  SSH_KEY_NOT_FOUND: [404, 'SSH key not found'],
  SERVICE_ACCOUNT_NOT_FOUND: [404, 'Service account not found'],
  QUOTA_NOT_SET: [404, 'No limit for {quota} is set for this {scope}; the default applies'],

  LIMIT_REACHED: [409, 'The limit of {limit} {what} is reached'],
  SSH_KEY_TAKEN: [409, 'This key is already registered; generate another one with ssh-keygen -t ed25519'],
  EMAIL_TAKEN: [409, 'The email address {email} belongs to another user'],
  PASSWORD_NOT_SET: [409, 'The account has no password; ask the operator for a link (svc admin password-link)'],
  LAST_ADMIN: [409, 'A team needs at least one admin; promote another member first'],
  TEAM_OWNER: [409, 'The team owner must stay an admin; transfer the team first'],
  ALREADY_MEMBER: [409, 'Already a member of this team'],
  SIGN_IN_TO_ACCEPT: [409, 'This email address has an account; sign in, then accept the invitation'],
  EMAIL_MISMATCH: [409, 'The invitation was sent to another email address'],
  LAST_WORKSPACE: [409, 'A user must keep at least one workspace'],
  WORKSPACE_NOT_EMPTY: [409, 'The workspace still holds {holdings}; delete them first'],
  WORKSPACE_WITHOUT_TEAM: [409, 'Only a workspace of a team can be transferred'],

  TOO_MANY_ATTEMPTS: [429, 'Too many attempts; try again in {retry_after_seconds} seconds'],
  TOO_MANY_GUESTS: [
    429,
    'Too many guests: this {holder} has {held} of at most {limit}; try again when one has expired, or ask the operator to raise accounts.guest.max_active',
  ],
  BUSY: [503, 'Too many sign-ins at once; try again'],
});
