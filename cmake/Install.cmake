# Set by the install step of the build; see docs.
