mkdir dir other
