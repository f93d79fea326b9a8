/** Potential grantees. The platform implements it with its accounts. */
export interface OwnerDirectory {
  /** Whether the workspace exists. */
  exists(workspaceUuid: string): Promise<boolean>;
  /** Default workspace of the user with this e-mail. Null if there is none. */
  byEmail(email: string): Promise<string | null>;
}
