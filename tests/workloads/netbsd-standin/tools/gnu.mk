# GNU make's part of the stand-in. SPDX-License-Identifier: BSD-2-Clause
FILES := $(addprefix gcc-,1 2 3 4 5 6 7 8)
.PHONY: all $(FILES)
all: $(FILES)
$(FILES): ; @echo "#   compile  gcc/$@.o"; $(STEP)
