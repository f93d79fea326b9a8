/** Who there is to give access to. The platform answers it from its accounts. */
export interface OwnerDirectory {
  /** Whether there is such a workspace. */
  exists(workspaceUuid: string): Promise<boolean>;
  /** The default workspace of the person with this e-mail; null when nobody has it. */
  byEmail(email: string): Promise<string | null>;
}
