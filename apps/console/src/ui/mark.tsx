/** The product's logo, in the text color with one accent. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <path d="M3 5h14M3 10h8.5M3 15h4" stroke="currentColor" strokeWidth="2.25" strokeLinecap="round" />
      <circle cx="14.75" cy="13.75" r="2.75" fill="var(--accent)" />
    </svg>
  );
}
